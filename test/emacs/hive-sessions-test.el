;;; hive-sessions-test.el --- The list of sessions  -*- lexical-binding: t; -*-

(require 'cl-lib)
(require 'ert)
(require 'hive-list)
(require 'hive-shared-test-help)

(defun hive-sessions-test-cells (handle)
  "Return the cells of the row of HANDLE, from the handle on, or nil."
  (with-current-buffer "*hive*"
    (save-excursion
      (goto-char (point-min))
      (let (cells)
        (while (not (or cells (eobp)))
          (let ((entry (append (tabulated-list-get-entry) nil)))
            (when (equal handle (and (nth 2 entry) (substring-no-properties (nth 2 entry))))
              (setq cells (mapcar #'substring-no-properties (cddr entry)))))
          (forward-line 1))
        cells))))

(defun hive-sessions-test-goto (handle)
  "Go to the row of HANDLE."
  (set-buffer "*hive*")
  (goto-char (point-min))
  (search-forward handle)
  (beginning-of-line))

(defmacro hive-sessions-test-with (&rest body)
  "Run BODY in the view of the agents, with two sessions in it."
  (declare (indent 0) (debug t))
  `(hive-shared-test-with
     (save-window-excursion
       (hive-sessions)
       (hive-test-wait 5 (and (hive-sessions-test-cells "Claude-abc12")
                              (hive-sessions-test-cells "Claude-def34")))
       ,@body)))

(ert-deftest hive-sessions/lists-the-sessions ()
  (hive-sessions-test-with
    (should (equal '("Claude-abc12" "claude-code" "demo" "" "")
                   (seq-take (hive-sessions-test-cells "Claude-abc12") 5)))
    (should (string-search "▾ Idle and done  2 agents" (buffer-string)))
    (should (string-search " agents 2" mode-line-process))))

(ert-deftest hive-sessions/says-what-a-session-waits-for-and-since-when ()
  (hive-sessions-test-with
    (let ((ask (lambda (&rest fields)
                 (hive-model-put-prompt (apply #'hive-test-prompt :session_id "abc12-session" fields))
                 (hive-model--run-changed)
                 (car (last (hive-sessions-test-cells "Claude-abc12"))))))
      (should (equal "1 question" (funcall ask :question "Deploy?")))
      (should (equal "blocked for 1h 50m: May I?  2 questions"
                     (funcall ask :question "May I?" :blocked_since (hive-test-time -6630)))))))

(ert-deftest hive-sessions/a-cut-list-leaves-the-others-known ()
  (hive-shared-test-with
    (hive-test-wait 5 (= 2 (length (hive-model-sessions))))
    (let ((hive-model--most 1) (listed nil))
      (let ((hive-model-sessions-listed-functions (list (lambda (sessions) (setq listed sessions)))))
        (hive-model-refresh-sessions)
        (hive-test-wait 5 listed))
      (should (= 1 (length listed)))
      (should (= 2 (length (hive-model-sessions)))))))

(ert-deftest hive-sessions/follows-what-happens ()
  (hive-sessions-test-with
    (hive-sessions-test-goto "Claude-abc12")
    (hive-shared-test-do "join" :session_id "zzz99-session" :branch "topic" :source "bg")
    (hive-test-wait 5 (hive-sessions-test-cells "Claude-zzz99"))
    (should (equal '("topic" "bg") (seq-subseq (hive-sessions-test-cells "Claude-zzz99") 3 5)))
    (hive-shared-test-post "@Claude-def34 hello")
    (hive-test-wait 5 (equal "1 mention" (car (last (hive-sessions-test-cells "Claude-def34")))))
    (hive-shared-test-do "ask" :from "Claude-zzz99" :question "Which?")
    (hive-test-wait 5 (equal "1 question" (car (last (hive-sessions-test-cells "Claude-zzz99")))))
    ;; Point stays on its session.
    (should (equal '(session . "abc12-session") (tabulated-list-get-id)))
    (hive-shared-test-do "end" :from "Claude-zzz99")
    (hive-test-wait 5 (string-search "▸ Ended  1 agent" (buffer-string)))
    (should-not (hive-sessions-test-cells "Claude-zzz99"))
    (goto-char (hive-list--position '(section ended)))
    (hive-list-fold)
    (should (equal "1 question" (car (last (hive-sessions-test-cells "Claude-zzz99")))))))

(ert-deftest hive-sessions/says-that-more-have-ended ()
  (hive-sessions-test-with
    (let ((hive-sessions--most-ended 1))
      (hive-shared-test-do "end" :from "Claude-abc12")
      (hive-test-wait 5 (string-search "▸ Ended  1 agent\n" (buffer-string)))
      (hive-shared-test-do "end" :from "Claude-def34")
      (hive-test-wait 5 (string-search "▸ Ended  1 agent+\n" (buffer-string))))))

(ert-deftest hive-sessions/a-hidden-list-requests-nothing ()
  (hive-sessions-test-with
    (switch-to-buffer "*scratch*")
    (hive-shared-test-do "join" :session_id "zzz99-session")
    (hive-test-wait 5 (buffer-local-value 'hive-list--stale (get-buffer "*hive*")))
    (hive-test-pass 0.7)
    (should-not (hive-sessions-test-cells "Claude-zzz99"))
    (hive-sessions)
    (hive-test-wait 5 (hive-sessions-test-cells "Claude-zzz99"))
    (kill-buffer "*hive*")
    (hive-shared-test-do "join" :session_id "yyy99-session")
    (hive-test-wait 5 (hive-model-session "yyy99-session"))
    (should-not (get-buffer "*hive*"))))

(ert-deftest hive-sessions/texts-of-agents-are-inert ()
  (hive-sessions-test-with
    (hive-shared-test-do "join" :session_id "zzz99-session" :branch "100%s\n\e[1m\u202e")
    (hive-test-wait 5 (hive-sessions-test-cells "Claude-zzz99"))
    (should (equal (nth 3 (hive-sessions-test-cells "Claude-zzz99")) "100%s ^[[1m<U+202E>"))))

(ert-deftest hive-sessions/sends-one-a-message ()
  (hive-sessions-test-with
    (hive-sessions-test-goto "Claude-def34")
    (cl-letf (((symbol-function 'read-from-minibuffer) (lambda (&rest _) "hurry")))
      (call-interactively #'hive-session-mention))
    (hive-test-wait 10 (null (hive-outbox-entries 'pending)))
    (should (equal (hive-shared-test-stored) '(("Human" nil "@Claude-def34 hurry"))))
    (should (= 1 (length (hive-shared-test-do "mentions" :session "Claude-def34"))))))

(ert-deftest hive-sessions/sends-an-urgent-message-with-a-prefix-argument ()
  (hive-sessions-test-with
    (hive-sessions-test-goto "Claude-def34")
    (let ((asked nil) (current-prefix-arg '(4)))
      (cl-letf (((symbol-function 'read-from-minibuffer)
                 (lambda (prompt &rest _) (setq asked prompt) "stop that")))
        (call-interactively #'hive-session-mention))
      (should (string-prefix-p "Urgent message to @" asked)))
    (hive-test-wait 10 (null (hive-outbox-entries 'pending)))
    (should (equal '("urgent") (mapcar (lambda (message) (plist-get message :priority))
                                       (append (hive-shared-test-do "messages") nil))))))

(ert-deftest hive-sessions/answers-its-questions ()
  (hive-sessions-test-with
    (let ((prompt (hive-shared-test-do "ask" :from "Claude-def34" :question "Which?")))
      (hive-test-wait 5 (hive-prompts))
      (hive-sessions-test-goto "Claude-abc12")
      (should (equal "demo has no pending questions"
                     (cadr (should-error (call-interactively #'hive-list-answer) :type 'user-error))))
      (hive-sessions-test-goto "Claude-def34")
      (hive-test-with-inputs '("this one" "")
        (let ((current-prefix-arg '(4))) (call-interactively #'hive-list-answer)))
      (hive-test-wait 10 (null (hive-outbox-entries 'pending)))
      (should (equal "this one"
                     (plist-get (plist-get (hive-test-call 'prompt/get
                                                           (list :ask_id (plist-get prompt :ask_id)))
                                           :prompt)
                                :decision))))))

(ert-deftest hive-sessions/shows-its-mentions-its-buffer-and-its-project ()
  (hive-sessions-test-with
    (hive-shared-test-post "@Claude-def34 hello")
    (hive-sessions-test-goto "Claude-def34")
    (save-window-excursion
      (call-interactively #'hive-session-mentions)
      (should (equal (buffer-name) "*hive-mentions: Claude-def34*")))
    (set-buffer "*hive*")
    (hive-sessions-test-goto "Claude-def34")
    (save-window-excursion
      (call-interactively #'hive-session-shared)
      (should (equal (buffer-name) "*hive-shared: demo*"))
      (hive-shared-test-ready)
      (hive-test-wait 5 (equal (hive-shared-test-bodies) '("@Claude-def34 hello"))))
    (set-buffer "*hive*")
    (hive-sessions-test-goto "Claude-def34")
    (save-window-excursion
      (call-interactively #'hive-session-visit)
      (should (equal (expand-file-name default-directory) project))
      (kill-buffer))))

(ert-deftest hive-sessions/configures-one ()
  (hive-sessions-test-with
    (cl-flet ((set-to (&rest inputs)
                (set-buffer "*hive*")
                (hive-sessions-test-goto "Claude-def34")
                (hive-test-with-inputs inputs (call-interactively #'hive-session-configure)))
              (now (key)
                (plist-get (cl-find "Claude-def34" (hive-shared-test-do "sessions") :test #'equal
                                    :key (lambda (session) (plist-get session :handle)))
                           key)))
      (set-to "name" "Fix the date")
      (hive-test-wait 5 (equal "Fix the date" (now :title)))
      (hive-test-wait 5 (string-search "Fix the date " (buffer-string)))
      (set-to "name" "")
      (hive-test-wait 5 (equal "demo 2" (now :title)))
      (set-to "shared" "no")
      (hive-test-wait 5 (not (now :shared)))
      (hive-test-wait 5 (string-search "[not shared]"
                                       (or (car (last (hive-sessions-test-cells "Claude-def34"))) "")))
      (set-to "roles" "reviewer, tester")
      (hive-test-wait 5 (equal '("reviewer" "tester") (now :roles)))
      (set-to "gate" "off")
      (hive-test-wait 5 (equal "off" (now :gate)))
      (set-to "gate" "default")
      (hive-test-wait 5 (null (now :gate)))
      (set-to "source" "bg")
      (hive-test-wait 5 (equal "bg" (now :source))))))

(ert-deftest hive-sessions/interrupts-one-and-reports-the-outcome ()
  (hive-sessions-test-with
    (let ((said nil) (asked nil))
      (cl-letf (((symbol-function 'hive-notify-say)
                 (lambda (format &rest args) (push (apply #'format format args) said)))
                ((symbol-function 'y-or-n-p) (lambda (question) (push question asked) t)))
        (hive-sessions-test-goto "Claude-def34")
        ;; It runs no turn, so there is nothing to confirm.
        (should (equal "demo 2 is idle; nothing to interrupt"
                       (cadr (should-error (call-interactively #'hive-list-interrupt) :type 'user-error))))
        (should-not asked)
        ;; The sidecar answers where Emacs does not know yet, and Emacs does not wait.
        (clrhash hive-model--sessions)
        (call-interactively #'hive-list-interrupt)
        (should (equal '("Interrupt demo 2? ") asked))
        (hive-test-wait 10 said)
        (should (string-prefix-p "Hive: demo 2 is idle" (car said)))))))
