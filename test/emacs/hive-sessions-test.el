;;; hive-sessions-test.el --- The list of sessions  -*- lexical-binding: t; -*-

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'hive-sessions)
(require 'hive-shared-test-help)

(defun hive-sessions-test-cells (handle)
  "Return the cells of the row of HANDLE, or nil."
  (let ((row (cl-find handle (hive-sessions--entries) :test #'equal
                      :key (lambda (row) (substring-no-properties (aref (cadr row) 1))))))
    (and row (mapcar #'substring-no-properties (cdr (append (cadr row) nil))))))

(defun hive-sessions-test-goto (handle)
  "Go to the row of HANDLE."
  (goto-char (point-min))
  (search-forward handle)
  (beginning-of-line))

(defmacro hive-sessions-test-with (&rest body)
  "Run BODY in the list, with two sessions in it."
  (declare (indent 0) (debug t))
  `(hive-shared-test-with
     (hive-sessions)
     (hive-test-wait 5 (= 2 (length hive-sessions--list)))
     (unwind-protect (progn ,@body)
       (hive-sessions--unfollow)
       (setq hive-sessions--list nil hive-sessions--ended nil hive-sessions--stale nil))))

(ert-deftest hive-sessions/lists-the-sessions ()
  (hive-sessions-test-with
    (should (equal (seq-take (hive-sessions-test-cells "Claude-abc12") 5)
                   '("Claude-abc12" "claude-code" "main" "active" "demo")))
    (should (string-search "Claude-def34" (buffer-string)))))

(ert-deftest hive-sessions/says-what-a-session-waits-for-and-since-when ()
  (hive-sessions-test-with
    (let ((id (plist-get (car hive-sessions--list) :session_id))
          (handle (plist-get (car hive-sessions--list) :handle)))
      (hive-model-put-prompt (hive-test-prompt :session_id id :question "Deploy?"))
      (should-not (string-search "Deploy?" (car (last (hive-sessions-test-cells handle)))))
      (hive-model-put-prompt (hive-test-prompt :session_id id :question "May I?"
                                               :blocked_since (hive-test-time -6630)))
      (should (equal "blocked for 1h 50m: May I?" (car (last (hive-sessions-test-cells handle))))))))

(ert-deftest hive-sessions/says-that-there-are-more ()
  (hive-sessions-test-with
    (should-not mode-line-process)
    (let ((hive-sessions--rows 1))
      (hive-sessions-refresh)
      (hive-test-wait 5 (= 1 (length hive-sessions--list)))
      (should (string-search "there are more" mode-line-process)))
    (hive-sessions-refresh)
    (hive-test-wait 5 (= 2 (length hive-sessions--list)))
    (should-not mode-line-process)))

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
    (should (equal (nth 5 (hive-sessions-test-cells "Claude-zzz99")) "topic"))
    (hive-shared-test-post "@Claude-def34 hello")
    (hive-test-wait 5 (equal "1" (nth 7 (hive-sessions-test-cells "Claude-def34"))))
    (hive-shared-test-do "ask" :from "Claude-zzz99" :question "Which?")
    (hive-test-wait 5 (equal "1" (nth 6 (hive-sessions-test-cells "Claude-zzz99"))))
    (hive-test-wait 5 (string-match-p "Claude-zzz99.* 1 " (buffer-string)))
    ;; Point stays on its session.
    (should (equal "abc12-session" (tabulated-list-get-id)))
    (hive-shared-test-do "end" :from "Claude-zzz99")
    (hive-test-wait 5 (not (hive-sessions-test-cells "Claude-zzz99")))
    (hive-sessions-toggle-ended)
    (hive-test-wait 5 (equal "ended" (nth 3 (hive-sessions-test-cells "Claude-zzz99"))))))

(ert-deftest hive-sessions/a-hidden-list-requests-nothing ()
  (hive-sessions-test-with
    (switch-to-buffer "*scratch*")
    (hive-shared-test-do "join" :session_id "zzz99-session")
    (hive-test-wait 5 hive-sessions--stale)
    (hive-test-pass 0.7)
    (should (= 2 (length hive-sessions--list)))
    (hive-sessions)
    (hive-test-wait 5 (= 3 (length hive-sessions--list)))
    (kill-buffer "*hive-sessions*")
    (hive-shared-test-do "join" :session_id "yyy99-session")
    (hive-test-wait 5 (not (memq #'hive-sessions--changed hive-model-sessions-changed-hook)))))

(ert-deftest hive-sessions/texts-of-agents-are-inert ()
  (hive-sessions-test-with
    (hive-shared-test-do "join" :session_id "zzz99-session" :branch "100%s\n\e[1m\u202e")
    (hive-test-wait 5 (hive-sessions-test-cells "Claude-zzz99"))
    (should (equal (nth 5 (hive-sessions-test-cells "Claude-zzz99")) "100%s ^[[1m<U+202E>"))))

(ert-deftest hive-sessions/sends-one-a-message ()
  (hive-sessions-test-with
    (hive-sessions-test-goto "Claude-def34")
    (cl-letf (((symbol-function 'read-from-minibuffer) (lambda (&rest _) "hurry")))
      (call-interactively #'hive-session-mention))
    (hive-test-wait 10 (null (hive-outbox-entries 'pending)))
    (should (equal (hive-shared-test-stored) '(("Human" nil "@Claude-def34 hurry"))))
    (should (= 1 (length (hive-shared-test-do "mentions" :session "Claude-def34"))))))

(ert-deftest hive-sessions/answers-its-questions ()
  (hive-sessions-test-with
    (let ((prompt (hive-shared-test-do "ask" :from "Claude-def34" :question "Which?")))
      (hive-test-wait 5 (hive-prompts))
      (hive-sessions-test-goto "Claude-abc12")
      (should-error (call-interactively #'hive-session-answer) :type 'user-error)
      (hive-sessions-test-goto "Claude-def34")
      (hive-test-with-inputs '("this one") (call-interactively #'hive-session-answer))
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
    (set-buffer "*hive-sessions*")
    (hive-sessions-test-goto "Claude-def34")
    (save-window-excursion
      (call-interactively #'hive-session-shared)
      (should (equal (buffer-name) "*hive-shared: demo*"))
      (hive-shared-test-ready)
      (should (equal (hive-shared-test-bodies) '("@Claude-def34 hello"))))
    (set-buffer "*hive-sessions*")
    (hive-sessions-test-goto "Claude-def34")
    (save-window-excursion
      (call-interactively #'hive-session-visit)
      (should (equal (expand-file-name default-directory) project))
      (kill-buffer))))

(ert-deftest hive-sessions/configures-one ()
  (hive-sessions-test-with
    (cl-flet ((set-to (&rest inputs)
                (set-buffer "*hive-sessions*")
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
                                       (or (nth 9 (hive-sessions-test-cells "Claude-def34")) "")))
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
                       (cadr (should-error (call-interactively #'hive-session-interrupt) :type 'user-error))))
        (should-not asked)
        ;; What Emacs does not know yet, the sidecar says, and Emacs does not wait.
        (clrhash hive-model--sessions)
        (call-interactively #'hive-session-interrupt)
        (should (equal '("Interrupt demo 2? ") asked))
        (hive-test-wait 10 said)
        (should (string-prefix-p "Hive: demo 2 is idle" (car said)))))))

(provide 'hive-sessions-test)
;;; hive-sessions-test.el ends here
