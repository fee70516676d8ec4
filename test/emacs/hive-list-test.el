;;; hive-list-test.el --- The list of what waits  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Code:

(require 'hive-test-help)

(require 'hive-list)

(defun hive-list-test-lines ()
  "Return the lines of the list."
  (with-current-buffer "*hive*"
    (split-string (buffer-substring-no-properties (point-min) (point-max)) "\n" t)))

(defmacro hive-list-test (&rest body)
  "Run BODY with an empty model and the list's buffer gone afterwards."
  (declare (indent 0))
  `(save-window-excursion
     (unwind-protect (progn (hive-model-forget) ,@body)
       (when (get-buffer "*hive*") (kill-buffer "*hive*"))
       (hive-model-forget))))

(ert-deftest hive-list-shows-the-most-urgent-first ()
  (hive-list-test
    (hive-model-put-prompt (hive-test-prompt :question "Low?" :urgency "low"))
    (hive-model-put-prompt (hive-test-prompt :question "Normal?" :agent "Codex-1" :source "bg" :project "rocket"
                                             :expires_at (format-time-string "%FT%T.000Z" (+ 600 (float-time)) t)))
    (hive-model-put-prompt (hive-test-prompt :question "Critical\nquestion?" :urgency "critical"))
    (hive-list)
    (let ((lines (hive-list-test-lines)))
      (should (string-match-p "! +Claude-abc12 +main +demo .*Critical question\\?" (nth 0 lines)))
      (should (string-match-p "Codex-1 +bg +rocket .* \\(?:9\\|10\\)m +Normal\\?" (nth 1 lines)))
      (should (string-match-p "· .*Low\\?" (nth 2 lines))))))

(ert-deftest hive-list-is-live-and-keeps-point-on-its-question ()
  (hive-list-test
    (dolist (id '("b" "d" "f"))
      (hive-model-put-prompt (hive-test-prompt :ask_id id :created_at id :question (concat "Question " id))))
    (hive-list)
    (forward-line 1)
    (forward-char 10)
    (let ((column (current-column)))
      (should (equal "d" (tabulated-list-get-id)))
      (hive-model-put-prompt (hive-test-prompt :ask_id "a" :created_at "a"))
      (hive-model-put-prompt (hive-test-prompt :ask_id "e" :created_at "e"))
      (hive-test-wait 2 (= 5 (length (hive-list-test-lines))))
      (should (equal "d" (tabulated-list-get-id)))
      (should (= column (current-column))))
    ;; Its question is gone: point stays in the list, on what is near.
    (hive-model-put-prompt (hive-test-prompt :ask_id "d" :status "responded"))
    (hive-test-wait 2 (= 4 (length (hive-list-test-lines))))
    (should (tabulated-list-get-id))))

(ert-deftest hive-list-keeps-the-place-of-windows-that-are-not-selected ()
  (hive-list-test
    (dotimes (i 50)
      (hive-model-put-prompt (hive-test-prompt :ask_id (format "%03d" i) :created_at (format "b%03d" i))))
    (hive-list)
    (delete-other-windows)
    (let ((other (selected-window)) (window (split-window)))
      (set-window-buffer window "*hive*")
      (select-window window)
      (switch-to-buffer "*scratch*")
      (with-current-buffer "*hive*"
        (set-window-point other (hive-list--position "020"))
        (hive-model-put-prompt (hive-test-prompt :ask_id "new" :created_at "a"))
        (hive-test-wait 2 (= 51 (length (hive-list-test-lines))))
        (should (equal "020" (tabulated-list-get-id (window-point other)))))
      (should (eq window (selected-window))))))

(ert-deftest hive-list-out-of-sight-is-brought-up-to-date-when-shown ()
  (hive-list-test
    (hive-list)
    (let ((buffer (current-buffer)))
      (switch-to-buffer "*scratch*")
      (delete-other-windows)
      (hive-model-put-prompt (hive-test-prompt))
      (accept-process-output nil 0.05)
      (should (= 0 (length (hive-list-test-lines))))
      (set-window-buffer nil buffer)
      (hive-list--appeared (selected-window)) ; batch Emacs has no redisplay
      (should (= 1 (length (hive-list-test-lines)))))))

(ert-deftest hive-list-changed-line-by-line-is-as-printed-anew ()
  (hive-list-test
    (let ((ids nil) (next 0))
      (hive-list)
      (dotimes (_ 300)
        (pcase (random 4)
          ((or 0 1)
           (push (format "ask-%d" (cl-incf next)) ids)
           (hive-model-put-prompt
            (hive-test-prompt :ask_id (car ids) :question (format "Question %d" next)
                              :urgency (nth (random 3) '("low" "normal" "critical"))
                              :created_at (format "2026-01-01T00:00:00.%03dZ" (random 1000)))))
          (2 (when ids
               (let ((id (nth (random (length ids)) ids)))
                 (setq ids (delete id ids))
                 (hive-model-put-prompt (hive-test-prompt :ask_id id :status "responded")))))
          (3 (when ids
               (let ((prompt (copy-sequence (hive-model-prompt (nth (random (length ids)) ids)))))
                 (hive-model-put-prompt (append (list :question (format "Changed %d" (random 100))
                                                      :urgency (nth (random 3) '("low" "normal" "critical")))
                                                prompt))))))
        (when (= 0 (random 3))
          (hive-list--update)))
      (hive-list--update)
      (let ((updated (buffer-string)))
        (hive-list--print)
        (should (equal updated (buffer-string)))
        (should (= (length ids) (length (hive-list-test-lines))))))))

(ert-deftest hive-list-a-line-that-changes-under-point-keeps-it ()
  (hive-list-test
    (dolist (id '("a" "b" "c"))
      (hive-model-put-prompt (hive-test-prompt :ask_id id :created_at id)))
    (hive-list)
    (goto-char (hive-list--position "b"))
    (forward-char 7)
    (hive-model-put-prompt (hive-test-prompt :ask_id "b" :created_at "b" :question "Changed?"))
    (hive-list--update)
    (should (string-match-p "Changed\\?" (nth 1 (hive-list-test-lines))))
    (should (equal "b" (tabulated-list-get-id)))
    (should (= 7 (current-column)))))

(ert-deftest hive-list-shows-at-most-500-rows-and-says-so ()
  (hive-list-test
    (hive-model-replace (cl-loop for i below 3000 collect (hive-test-prompt :ask_id (number-to-string i))))
    (hive-list)
    (should (= 500 (length (hive-list-test-lines))))
    (should (equal " 500 of 3000" mode-line-process))))

(ert-deftest hive-list-text-of-agents-is-inert ()
  (hive-list-test
    (hive-model-put-prompt
     (hive-test-prompt :agent "%b\u202E" :question (propertize "q\ec" 'display "zzz" 'invisible t)))
    (hive-list)
    (should (string-match-p "%b<U\\+202E> .*q\\^\\[c" (car (hive-list-test-lines))))
    (goto-char (point-min))
    (should-not (text-property-not-all (point-min) (point-max) 'invisible nil))
    (should-not (text-property-any (point-min) (point-max) 'display "zzz"))))

(ert-deftest hive-list-answers-and-cancels-at-point ()
  (hive-test-with-desk nil
    (save-window-excursion
      (hive-test-connect)
      (hive-test-call 'fake/ask '(:created_at "2026-01-01" :question "First?"))
      (hive-test-call 'fake/ask '(:created_at "2026-01-02" :question "Second?"))
      (hive-test-wait 5 (= 2 (length (hive-prompts))))
      (hive-list)
      (forward-line 1)
      (hive-test-with-inputs (list "fine")
        (call-interactively (key-binding (kbd "a"))))
      (hive-test-wait 5 (= 1 (length (hive-list-test-lines))))
      (should (equal "fine" (plist-get (car (hive-test-answers)) :decision)))
      (goto-char (point-min))
      (cl-letf (((symbol-function 'y-or-n-p) #'always))
        (call-interactively (key-binding (kbd "c"))))
      (hive-test-wait 5 (= 0 (length (hive-list-test-lines))))
      (should-error (call-interactively (key-binding (kbd "a"))) :type 'user-error)
      (call-interactively (key-binding (kbd "g"))))))

;;;; Views, filters, marks, pages

(defmacro hive-list-test-desk (questions &rest body)
  "Ask QUESTIONS, lists of fields, show the list and run BODY in it."
  (declare (indent 1))
  `(hive-test-with-desk nil
     (save-window-excursion
       (hive-test-connect)
       (dolist (fields ,questions) (hive-test-call 'fake/ask fields))
       (hive-test-wait 5 (= (length ,questions) (length (hive-prompts))))
       (hive-list)
       ,@body)))

(defun hive-list-test-key (keys)
  "Press KEYS in the list."
  (let* ((sequence (kbd keys)) (last-command-event (aref sequence (1- (length sequence)))))
    (call-interactively (key-binding sequence))))

(ert-deftest hive-list-has-a-key-for-each-view ()
  (hive-list-test-desk '((:ask_id "p1" :created_at "2026-01-01" :question "Done?")
                         (:ask_id "p2" :created_at "2026-01-02" :question "Late?")
                         (:ask_id "p3" :created_at "2026-01-03" :question "Open?"))
    (hive-test-call 'fake/change '(:ask_id "p1" :status "responded" :decision "yes" :by "Ada"))
    (hive-test-call 'fake/change '(:ask_id "p2" :status "expired"
                                           :late_response (:decision "too late" :by "Ada")))
    (hive-test-wait 5 (= 1 (length (hive-list-test-lines))))
    (pcase-dolist (`(,key . ,line) '(("2" . "Done\\? → yes  (Ada)") ("3" . "Late\\? → too late")
                                     ("4" . "Late\\?") ("1" . "Open\\?")))
      (hive-list-test-key key)
      (hive-test-wait 5 (and (= 1 (length (hive-list-test-lines)))
                             (string-match-p line (car (hive-list-test-lines))))))
    (hive-list-test-key "5")
    (hive-test-wait 5 (null (hive-list-test-lines)))
    (should (string-match-p "cancelled" mode-line-process))))

(ert-deftest hive-list-filters-by-agent-project-kind-and-text ()
  (hive-list-test-desk '((:ask_id "p1" :agent "Codex-1" :question "One?" :project "rocket")
                         (:ask_id "p2" :agent "Claude-2" :question "Two%s?" :kind "permission"))
    (pcase-dolist (`(,keys ,input ,line) '(("/ a" "Codex-1" "One") ("/ p" "rocket" "One")
                                           ("/ k" "permission" "perm .*Two") ("/ t" "WO%s" "Two")))
      (hive-list-test-key "/ /")
      (should (= 2 (length (hive-list-test-lines))))
      (hive-test-with-inputs (list input) (hive-list-test-key keys))
      (should (= 1 (length (hive-list-test-lines))))
      (should (string-match-p line (car (hive-list-test-lines)))))
    (should (string-match-p "query:WO%%s" mode-line-process))
    ;; It goes on following what happens.
    (hive-test-call 'fake/ask '(:question "two%S more"))
    (hive-test-wait 5 (= 2 (length (hive-list-test-lines))))))

(ert-deftest hive-list-answers-what-is-marked-with-one-decision ()
  (hive-list-test-desk '((:ask_id "p1" :created_at "2026-01-01" :options [(:label "yes") (:label "no")])
                         (:ask_id "p2" :created_at "2026-01-02" :options [(:label "no") (:label "yes")])
                         (:ask_id "p3" :created_at "2026-01-03"))
    (goto-char (point-min))
    (hive-list-test-key "m")
    (hive-list-test-key "m")
    (should (equal "p3" (tabulated-list-get-id)))
    (should (string-match-p " 2 marked" mode-line-process))
    ;; A refresh keeps point and marks.
    (hive-list-test-key "g")
    (hive-list--print)
    (should (equal "p3" (tabulated-list-get-id)))
    (should (equal '(">" ">" " ") (mapcar (lambda (line) (substring line 0 1)) (hive-list-test-lines))))
    (hive-test-with-inputs (list "yes") (hive-list-test-key "a"))
    (hive-test-wait 5 (= 2 (length (hive-test-answers))))
    (should (equal '(["yes"] ["yes"]) (mapcar (lambda (answer) (plist-get answer :selected)) (hive-test-answers))))
    (hive-test-wait 5 (= 1 (length (hive-list-test-lines))))
    (should-not (string-match-p "marked" mode-line-process))))

(ert-deftest hive-list-marks-without-a-common-answer-are-refused ()
  (should-error (hive-list-mark-common
                 (list (hive-test-prompt :options [(:label "a")] :allow_free_text :json-false)
                       (hive-test-prompt :options [(:label "b")])))
                :type 'user-error)
  (let ((common (hive-list-mark-common
                 (list (hive-test-prompt :options [(:label "a") (:label "b")])
                       (hive-test-prompt :options [(:label "b")])))))
    (should (equal [(:label "b")] (plist-get common :options)))))

(ert-deftest hive-list-unmarks-one-and-all ()
  (hive-list-test
    (dolist (id '("a" "b" "c")) (hive-model-put-prompt (hive-test-prompt :ask_id id :created_at id)))
    (hive-list)
    (goto-char (point-min))
    (dotimes (_ 3) (hive-list-mark))
    (goto-char (point-min))
    (hive-list-unmark)
    (should (equal '(" " ">" ">") (mapcar (lambda (line) (substring line 0 1)) (hive-list-test-lines))))
    (hive-list-unmark-all)
    (should-not (cl-find ?> (buffer-string)))))

(ert-deftest hive-list-turns-pages ()
  (hive-list-test
    (hive-model-replace (cl-loop for i below 1200 collect
                                 (hive-test-prompt :ask_id (format "%04d" i) :created_at (format "%04d" i))))
    (hive-list)
    (hive-list-next-page)
    (should (equal "0500" (tabulated-list-get-id)))
    (should (equal " 501-1000 of 1200" mode-line-process))
    (hive-list-next-page)
    (should (= 200 (length (hive-list-test-lines))))
    (should-error (hive-list-next-page) :type 'user-error)
    (hive-list-previous-page)
    (hive-list-previous-page)
    (should (equal "0000" (tabulated-list-get-id)))
    (should-error (hive-list-previous-page) :type 'user-error)))

(ert-deftest hive-list-turns-pages-of-what-is-settled-by-cursor ()
  (hive-list-test-desk nil
    (let ((hive-list-rows 2))
      (dotimes (i 5) (hive-test-call 'fake/ask (list :ask_id (format "p%d" i) :status "responded" :decision "ok")))
      (hive-list-test-key "2")
      (hive-test-wait 5 (= 2 (length (hive-list-test-lines))))
      (hive-list-test-key ">")
      (hive-test-wait 5 (equal "p2" (tabulated-list-get-id)))
      (should (equal " answered 3-4 of 5" mode-line-process))
      (hive-list-test-key ">")
      (hive-test-wait 5 (= 1 (length (hive-list-test-lines))))
      (should-error (hive-list-test-key ">") :type 'user-error)
      (hive-list-test-key "<")
      (hive-test-wait 5 (= 2 (length (hive-list-test-lines))))
      (should (equal "p2" (tabulated-list-get-id))))))

(ert-deftest hive-list-ret-shows-all-of-it ()
  (hive-list-test-desk '((:ask_id "p1" :question "Which way?"))
    (hive-list-test-key "RET")
    (should (derived-mode-p 'hive-prompt-mode))
    (kill-buffer)))

(ert-deftest hive-terminal-is-found-by-the-process-that-runs-in-it ()
  (let* ((buffer (generate-new-buffer "terminal"))
         (process (make-process :name "shell" :buffer buffer :noquery t
                                :command '("sh" "-c" "sleep 30 & echo $!; wait"))))
    (unwind-protect
        (let ((pid (hive-test-wait 5 (with-current-buffer buffer
                                       (and (string-match "\\([0-9]+\\)" (buffer-string))
                                            (string-to-number (match-string 1 (buffer-string))))))))
          (should (eq buffer (hive-terminal-buffer pid)))
          (should-not (hive-terminal-buffer (emacs-pid)))
          (should-not (hive-terminal-buffer nil))
          (signal-process pid 'kill))
      (delete-process process)
      (kill-buffer buffer))))

;;; hive-list-test.el ends here
