;;; hive-prompt-test.el --- The buffer of one question  -*- lexical-binding: t; -*-

;; Tags: as-displayed untrusted

(require 'hive-next)
(require 'hive-prompt)
(require 'hive-test-help)

(defvar server-after-make-frame-hook)

(defmacro hive-prompt-test-shown (prompt events &rest body)
  "Run BODY in the buffer of PROMPT, to which EVENTS happened."
  (declare (indent 2))
  `(with-temp-buffer
     (hive-prompt-mode)
     (setq hive-prompt--prompt ,prompt hive-prompt--events ,events)
     (hive-prompt--print)
     ,@body))

;;;; Long lines

(ert-deftest hive-prompt-wraps-between-words-and-indents-what-is-continued ()
  (hive-prompt-test-shown
      (hive-test-prompt :question "Which?" :options [(:label "one" :description "the description of one")])
      nil
    (should word-wrap)
    (should-not (or truncate-lines truncate-partial-width-windows))
    (cl-flet ((prefix (text) (goto-char (point-min)) (search-forward text)
                      (get-text-property (1- (point)) 'wrap-prefix)))
      (should (equal (make-string 4 ?\s) (prefix "one")))
      (should (equal (make-string 6 ?\s) (prefix "description of")))
      (should-not (prefix "Which?")))))

(ert-deftest hive-prompt-a-long-line-from-right-to-left-is-wrapped-anywhere ()
  "Wrapping between words would take Emacs seconds at each redisplay."
  (hive-prompt-test-shown (hive-test-prompt :question (apply #'concat (make-list 200 "שלום "))) nil
    (should-not word-wrap))
  (hive-prompt-test-shown (hive-test-prompt :question (apply #'concat (make-list 200 "salom "))) nil
    (should word-wrap))
  (hive-prompt-test-shown (hive-test-prompt :question "שלום") nil
    (should word-wrap)))

(ert-deftest hive-prompt-no-text-of-an-agent-takes-emacs-long-to-display ()
  "C-g does not end a redisplay.
16,000 opening brackets in one line took 18 s, and 20,000 letters from
right to left 20 s."
  (hive-prompt-test-shown (hive-test-prompt :context (make-string 16000 ?\()) nil
    (should bidi-inhibit-bpa)
    (should bidi-display-reordering))
  (hive-prompt-test-shown (hive-test-prompt :context (apply #'concat (make-list 4000 "שלום "))) nil
    (should-not bidi-display-reordering))
  (hive-prompt-test-shown (hive-test-prompt :context (apply #'concat (make-list 200 "שלום "))) nil
    (should bidi-display-reordering)))

;;;; Permissions

(ert-deftest hive-prompt-an-answer-that-may-allow-is-confirmed ()
  (hive-prompt-test-shown
      (hive-test-prompt :kind "permission" :digest "d" :options [(:label "Allow") (:label "Deny" :refuses t)])
      nil
    (let ((hive-undo-seconds 0) asked sent)
      (cl-letf (((symbol-function 'y-or-n-p) (lambda (text) (push text asked) nil))
                ((symbol-function 'hive-prompt-unanswered-p) #'always)
                ((symbol-function 'hive-respond-send)
                 (lambda (_prompt answer) (push (plist-get answer :decision) sent))))
        ;; Until its end was displayed, the command does not even ask.
        (should-error (hive-prompt--send-label "Allow") :type 'user-error)
        (should-not asked)
        (hive-display-whole hive-prompt--prompt)
        (should-error (hive-prompt--send-label "Allow") :type 'user-error)
        (should (string-match-p "PERMISSION" (car asked)))
        (hive-prompt--send-label "Deny")
        (should (equal '("Deny") sent))
        (should (equal 1 (length asked)))
        ;; An answer that can be taken back for a moment is not confirmed as well.
        (setq hive-undo-seconds 3)
        (hive-prompt--send-label "Allow")
        (should (equal '("Allow" "Deny") sent))
        (should (equal 1 (length asked)))))))

;;;; Ages

(ert-deftest hive-prompt-ages-follow-the-clock-while-it-is-in-a-window ()
  (dolist (case '((nil . "asked 2h ago") (t . "asked 5m ago")))
    (save-window-excursion
      (hive-prompt-test-shown
          (hive-test-prompt :kind (if (car case) "permission" "question") :digest "d" :question "one\ntwo"
                            :created_at (hive-text-before 300))
          nil
        (should (string-search "asked 5m ago" (buffer-string)))
        (hive-test-run-timers 7200)
        ;; Nobody sees it.
        (should (string-search "asked 5m ago" (buffer-string)))
        (set-window-buffer nil (current-buffer))
        (goto-char (point-min))
        (search-forward "tw")
        (hive-test-run-timers 7200)
        ;; The part of a permission that was displayed stays known while it is read.
        (should (string-search (cdr case) (buffer-string)))
        (should (looking-at "o$"))
        (hive-display-whole hive-prompt--prompt)
        (hive-test-run-timers 7200)
        (should (string-search "asked 2h ago" (buffer-string)))))))

;;;; Its buffer, and what moves from it

(ert-deftest hive-prompt-the-buffer-is-named-by-agent-and-question-and-found-again ()
  (cl-letf (((symbol-function 'hive-prompt--fetch) #'ignore))
    (let* ((one (hive-test-prompt :ask_id "ask-1" :agent "reviewer" :question "Deploy\nnow?"))
           (other (plist-put (copy-sequence one) :ask_id "ask-2"))
           (buffers (list (hive-prompt-buffer one) (hive-prompt-buffer other) (hive-prompt-buffer one))))
      (unwind-protect
          (progn
            (should (equal "*hive: reviewer – Deploy now?*" (buffer-name (car buffers))))
            (should (eq (car buffers) (nth 2 buffers)))
            (should-not (eq (car buffers) (nth 1 buffers))))
        (mapc #'kill-buffer (seq-uniq buffers))))))

(ert-deftest hive-prompt-tables-are-aligned-but-not-in-a-permission ()
  (pcase-dolist (`(,kind . ,row) '(("question" . "| 1   |") ("permission" . "|1|")))
    (with-temp-buffer
      (hive-prompt-mode)
      (setq hive-prompt--prompt (hive-test-prompt :kind kind :context "|a|\n|-|\n|1|"))
      (hive-prompt--print)
      (goto-char (point-min))
      (should (search-forward row nil t)))))
(ert-deftest hive-prompt-is-printed-in-order-in-a-window-that-is-not-selected ()
  (with-temp-buffer
    (hive-prompt-mode)
    (setq hive-prompt--prompt (hive-test-prompt :question "The question?" :context "The context"))
    (hive-prompt--print)
    (let ((text (buffer-string)) (window (split-window)))
      (unwind-protect
          (progn
            (set-window-buffer window (current-buffer))
            (hive-prompt--print)
            (should (equal text (buffer-string)))
            (should (= 1 (window-point window) (window-start window))))
        (delete-window window)))))

(ert-deftest hive-prompt-n-goes-over-the-hunks-and-then-over-the-questions ()
  (let* ((diff "--- /a\n+++ /a\n@@ -1 +1 @@\n-a\n+b\n")
         (prompts (mapcar (lambda (id) (hive-test-prompt :ask_id id :question id :context diff))
                          '("ask-1" "ask-2")))
         (buffers nil))
    (cl-letf (((symbol-function 'hive-prompts-mine) (lambda () prompts))
              ((symbol-function 'hive-rpc-request) #'ignore))
      (save-window-excursion
        (unwind-protect
            (progn
              (switch-to-buffer (hive-prompt-buffer (car prompts)))
              (push (current-buffer) buffers)
              (call-interactively (key-binding "n"))
              (should (looking-at-p "@@"))
              (call-interactively (key-binding "n"))
              (push (current-buffer) buffers)
              (should (equal "ask-2" (plist-get hive-prompt--prompt :ask_id)))
              (should-error (call-interactively (key-binding "N")) :type 'user-error)
              (call-interactively (key-binding "p"))
              (should (equal "ask-1" (plist-get hive-prompt--prompt :ask_id))))
          (mapc #'kill-buffer buffers))))))

;;;; Notes

(defconst hive-prompt-test-noted-at "2026-01-01T12:05:00.000Z")

(defun hive-prompt-test-noted (prompt &rest texts)
  "Return PROMPT with notes of TEXTS."
  (let ((notes (mapcar (lambda (text) (list :text text :at hive-prompt-test-noted-at)) texts)))
    (plist-put (copy-sequence prompt) :notes (vconcat notes))))

(defun hive-prompt-test-added (text)
  "Return how a note of TEXT is shown, in the local time zone."
  (concat "The agent added at " (hive-text-local hive-prompt-test-noted-at "%F %H:%M") ": " text))

(ert-deftest hive-prompt-shows-what-the-agent-added-with-its-time-and-inert ()
  (hive-prompt-test-shown (hive-prompt-test-noted (hive-test-prompt :question "Which?" :options [(:label "a")])
                                                  "100%s \u202Efaster\nmeasured" "b got cheaper")
      nil
    (should (string-search (concat "Which?\n\n" (hive-prompt-test-added "100%s <U+202E>faster\nmeasured") "\n\n"
                                   (hive-prompt-test-added "b got cheaper") "\n\nOptions")
                           (buffer-string)))))

(ert-deftest hive-prompt-a-permission-with-a-note-reads-the-same-later ()
  (let ((prompt (hive-prompt-test-noted (hive-test-prompt :kind "permission") "first")))
    (should (equal (hive-read-notes prompt)
                   (cl-letf* ((now (hive-now)) ((symbol-function 'hive-now) (lambda () (+ now (* 40 24 3600)))))
                     (hive-read-notes prompt))))))

(ert-deftest hive-prompt-shows-what-is-added-while-it-is-open ()
  (let ((hive-model--prompts (make-hash-table :test #'equal)) (prompt (hive-test-prompt)) fetched)
    (cl-letf (((symbol-function 'hive-prompt--fetch) (lambda (&rest _) (push (current-buffer) fetched))))
      (hive-prompt-test-shown prompt nil
        (puthash (plist-get prompt :ask_id) prompt hive-model--prompts)
        (hive-prompt--refresh-changed)
        (should-not fetched)
        (puthash (plist-get prompt :ask_id) (hive-prompt-test-noted prompt "b got cheaper") hive-model--prompts)
        (hive-prompt--refresh-changed)
        (should (equal (list (current-buffer)) fetched))))))

(ert-deftest hive-prompt-arrivals-move-point-in-no-window ()
  (let ((hive-model--prompts (make-hash-table :test #'equal)))
    (save-window-excursion
      (delete-other-windows)
      (hive-prompt-test-shown (hive-test-prompt :question "Which?\nOf these?") nil
        (let ((window (split-window)))
          (set-window-buffer window (current-buffer))
          (goto-char (point-min))
          (search-forward "Of")
          (set-window-point window (point))
          (goto-char (point-max))
          (setq hive-prompt--prompt (hive-test-prompt :question "Which?\nOf these?" :status "responded"))
          (hive-prompt--print)
          (should (eobp))
          (goto-char (window-point window))
          (should (looking-back "^Of" (line-beginning-position))))))))

(defun hive-prompt-test-permission (&rest fields)
  "Return a permission that has FIELDS, a plist, and three options."
  (apply #'hive-test-prompt
         (append fields
                 '(:ask_id "ask-1" :kind "permission" :digest "d" :question "Run it?" :context "make\ninstall"
                   :options [(:label "Allow") (:label "Allow always" :description "in\nevery project")
                             (:label "Deny" :refuses t)]))))

(ert-deftest hive-prompt-a-note-that-arrives-leaves-point-on-its-option ()
  "Otherwise a key would press the button of another option."
  (let (sent)
    (cl-letf (((symbol-function 'hive-respond-send)
               (lambda (_prompt answer) (push (plist-get answer :decision) sent)))
              ((symbol-function 'hive-prompt-unanswered-p) #'always)
              ((symbol-function 'hive-rpc-request) #'ignore))
      (hive-prompt-test-shown (hive-prompt-test-permission) nil
        (dotimes (_ 3) (call-interactively (key-binding (kbd "TAB"))))
        (should (equal "Deny" (button-label (button-at (point)))))
        (let ((changes (list (lambda () (setq hive-prompt--prompt
                                              (hive-prompt-test-noted hive-prompt--prompt "One.\n 3  Deny")))
                             (lambda () (setq hive-prompt--prompt
                                              (hive-prompt-test-noted hive-prompt--prompt "One." "Two.")))
                             (lambda () (setq hive-prompt--changed '("/a" "/b")))
                             (lambda () (setq hive-prompt--changed nil)))))
          (dolist (change changes)
            (funcall change)
            (hive-prompt--print)
            (should (equal "Deny" (button-label (button-at (point)))))
            (push-button)))
        (should (equal '("Deny" "Deny" "Deny" "Deny") sent))))))

(ert-deftest hive-prompt-a-note-that-arrives-leaves-mark-and-windows-at-their-text ()
  (save-window-excursion
    (delete-other-windows)
    (hive-prompt-test-shown (hive-prompt-test-permission) nil
      (let ((window (split-window)) (transient-mark-mode t))
        (set-window-buffer window (current-buffer))
        (cl-flet ((at (text) (goto-char (point-min)) (search-forward text)))
          (set-window-point window (at "every pro"))
          (set-window-start window (- (at "make") 4) t)
          (push-mark (at "inst") t t)
          (goto-char (point-max)))
        (setq hive-prompt--prompt (hive-prompt-test-noted hive-prompt--prompt "One.\nTwo.")
              deactivate-mark nil)
        (hive-prompt--print)
        (should (eobp))
        (should mark-active)
        (should-not deactivate-mark)
        (pcase-dolist (`(,position . ,text) `((,(mark) . "all\n") (,(window-point window) . "ject\n")
                                              (,(window-start window) . "make\n")))
          (goto-char position)
          (should (looking-at-p text)))))))

(ert-deftest hive-prompt-a-search-goes-on-where-it-was-when-a-note-arrives ()
  (save-window-excursion
    (hive-prompt-test-shown (hive-prompt-test-permission) nil
      (set-window-buffer nil (current-buffer))
      (goto-char (point-min))
      (isearch-mode t)
      (unwind-protect
          (progn
            (isearch-process-search-string "Deny" "Deny")
            (setq hive-prompt--prompt
                  (hive-prompt-test-noted hive-prompt--prompt "One.\nTwo.\nThree."))
            (hive-prompt--print)
            (should (looking-back "Deny" (line-beginning-position)))
            (should (equal (- (point) 4) isearch-other-end))
            (should (equal (point-min) isearch-opoint)))
        (isearch-done)))))

(ert-deftest hive-prompt-point-is-on-no-other-option-when-its-own-is-gone ()
  (cl-letf (((symbol-function 'hive-prompt-unanswered-p) #'always))
    (hive-prompt-test-shown (hive-prompt-test-permission) nil
      (forward-button 2)
      (should (equal "Allow always" (button-label (button-at (point)))))
      (setq hive-prompt--prompt
            (hive-prompt-test-permission :options [(:label "Allow") (:label "Allow for a day")]))
      (hive-prompt--print)
      (should (bobp)))))

(ert-deftest hive-prompt-point-stays-on-its-option-when-the-answer-arrives ()
  (let ((answered nil))
    (cl-letf (((symbol-function 'hive-prompt-unanswered-p) (lambda (_) (not answered))))
      (hive-prompt-test-shown (hive-prompt-test-permission) nil
        (forward-button 3)
        (setq answered t hive-prompt--prompt (hive-prompt-test-permission :decision "Deny" :selected ["Deny"]))
        (hive-prompt--print)
        (should (looking-at-p "Deny  ✓"))))))

(ert-deftest hive-prompt-an-option-chosen-here-says-that-what-is-shown-was-read ()
  (let (sent)
    (cl-letf (((symbol-function 'hive-prompt-unanswered-p) #'always)
              ((symbol-function 'hive-rpc-request) (lambda (method &rest _) (push method sent)))
              ((symbol-function 'hive-respond-send) (lambda (&rest _) (push 'answer sent))))
      (hive-prompt-test-shown (hive-test-prompt :seen_at "2026-01-01T00:00:01.000Z" :options [(:label "a")]) nil
        (hive-prompt--send-label "a"))
      (should (equal '(prompt/claim answer) (reverse sent))))))

(ert-deftest hive-prompt-where-a-key-answers-notes-are-below-the-question ()
  (let ((prompt (hive-prompt-test-noted (hive-test-prompt :question "Which?" :options [(:label "a")])
                                        "b got\ncheaper")))
    (should (string-search (concat "Which?\n" (hive-prompt-test-added "b got\ncheaper") "\n")
                           (hive-next--text (list prompt) nil 0)))))

(ert-deftest hive-prompt-the-buffer-beside-the-minibuffer-shows-new-notes ()
  (let* ((hive-model--prompts (make-hash-table :test #'equal)) (hive-changed-hook nil)
         (prompt (hive-prompt-test-noted (hive-test-prompt :question "Which?") "first"))
         (text (lambda () (with-current-buffer hive-read--buffer (buffer-string)))))
    (hive-read-with-details prompt
      (lambda ()
        (should (equal (concat "Which?\n\n" (hive-prompt-test-added "first") "\n") (funcall text)))
        (puthash (plist-get prompt :ask_id) (hive-prompt-test-noted prompt "first" "second")
                 hive-model--prompts)
        (run-hooks 'hive-changed-hook)
        (should (string-suffix-p (concat "first\n\n" (hive-prompt-test-added "second") "\n") (funcall text)))))
    (should-not (get-buffer hive-read--buffer))
    (should-not hive-changed-hook)))

;;;; Events

(defconst hive-prompt-test-events
  '((("prompt/created" :status "pending") . "asked")
    (("prompt/noted" :status "pending") . "the agent added a note")
    (("prompt/popup" :outcome "failed" :reason "no session bus") . "popup failed: no session bus")
    (("prompt/popup" :outcome "suppressed" :reason "quiet_hours") . "popup not shown: quiet hours")
    (("prompt/popup" :outcome "suppressed" :reason "muted_agent") . "popup not shown: the agent is muted")
    (("prompt/popup" :outcome "suppressed" :reason "new_rule") . "popup not shown: new_rule")
    (("prompt/popup" :outcome "sent" :reason nil) . "popup sent")
    (("prompt/claimed" :by "Ada") . "Ada began to answer")
    (("prompt/left_to_human" :by "Coordinator-1") . "Coordinator-1 left it to you")
    (("prompt/responded" :by "Ada" :decision "yes\n%s") . "answered by Ada: yes %s")
    (("prompt/lost_response" :by "Bob" :decision "no") . "a second answer, by Bob, was not accepted: no")
    (("prompt/orphaned" :orphaned :json-false) . "its session resumed")
    (("prompt/orphaned" :orphaned t) . "its session ended")
    (("prompt/handed" :repeated :json-false) . "answer delivered to the agent")
    (("prompt/invented" :x 1) . "prompt/invented"))
  "Events on the wire, and their descriptions.")

(ert-deftest hive-prompt-says-what-happened-in-words-and-local-time ()
  (unwind-protect
      (progn
        (set-time-zone-rule "UTC-2")
        (hive-prompt-test-shown
            (hive-test-prompt)
            (vconcat (mapcar (lambda (event) (list :seq 1 :at "2026-11-22T23:37:01.697Z"
                                                   :type (caar event) :data (cdar event)))
                             hive-prompt-test-events))
          (should-not (string-match-p "T23:37\\|prompt/[^i]" (buffer-string)))
          (dolist (event hive-prompt-test-events)
            (should (string-match-p (concat "^  2026-11-23 01:37:01  " (regexp-quote (cdr event)) "$")
                                    (buffer-string))))))
    (set-time-zone-rule nil)))

(ert-deftest hive-prompt-shows-repeated-events-once ()
  (let ((failed (lambda (at) (list :seq 1 :at at :type "prompt/popup"
                                   :data '(:outcome "failed" :reason "no D-Bus here")))))
    (hive-prompt-test-shown (hive-test-prompt)
        (vector (funcall failed "2026-11-22T23:37:01.697Z")
                '(:seq 2 :at "2026-11-22T23:37:02.000Z" :type "prompt/seen" :data nil)
                (funcall failed "2026-11-22T23:38:01.697Z") (funcall failed "2026-11-22T23:39:01.697Z"))
      (should (= 1 (how-many "no D-Bus here" (point-min))))
      (should (string-match-p "popup failed: no D-Bus here  ×3$" (buffer-string))))))

(ert-deftest hive-prompt-shows-the-receipts-that-it-has-and-no-other ()
  (let ((ago (lambda (seconds) (hive-text-before seconds))))
    (hive-prompt-test-shown (hive-test-prompt :created_at (funcall ago 300) :offered_at (funcall ago 240)) nil
      (should (string-match-p "^asked 5m ago · shown at a desk 4m ago$" (buffer-string))))
    (hive-prompt-test-shown (hive-test-prompt :status "responded" :created_at (funcall ago 300)
                                              :responded_at (funcall ago 60) :decision "yes" :by "Ada" :via "emacs")
        nil
      (should (string-match-p "^asked 5m ago · answered 1m ago$" (buffer-string))))))

(ert-deftest hive-prompt-says-when-it-expires-only-while-it-is-pending ()
  (let ((soon (hive-text-before -540)))
    (hive-prompt-test-shown (hive-test-prompt :expires_at soon) nil
      (should (string-match-p "pending · expires in [89]m" (buffer-string))))
    (hive-prompt-test-shown (hive-test-prompt :status "responded" :expires_at soon) nil
      (should (string-match-p " · answered\n" (buffer-string)))
      (should-not (string-match-p "expires" (buffer-string))))))

;;;; A clicked popup

(ert-deftest hive-prompt-clicked-without-a-frame ()
  "The next frame of a daemon shows what was clicked while it had none."
  (let ((server-after-make-frame-hook nil)
        (isdaemon t)
        shown)
    (cl-letf (((symbol-function 'daemonp) (lambda () isdaemon))
              ((symbol-function 'hive-model-prompt) (lambda (id) (list :ask_id id)))
              ((symbol-function 'hive-prompt-buffer) (lambda (prompt) (plist-get prompt :ask_id)))
              ((symbol-function 'display-buffer) (lambda (buffer &rest _) (push buffer shown))))
      (hive-rpc-handle 'desk/open_prompt '(:ask_id "ask-1"))
      (should-not shown)
      (hive-rpc-handle 'desk/open_prompt '(:ask_id "ask-2"))
      (run-hooks 'server-after-make-frame-hook)
      (should (equal '("ask-2") shown))
      (run-hooks 'server-after-make-frame-hook)
      (should (equal '("ask-2") shown))
      (setq isdaemon nil)
      (hive-rpc-handle 'desk/open_prompt '(:ask_id "ask-3"))
      (should (equal '("ask-3" "ask-2") shown)))))
